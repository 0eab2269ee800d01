# SPDX-License-Identifier: Apache-2.0
# kanon as an image: the Debian packages of this folder, built and tested in one stage, installed alone in the other.
#
#   docker build -t kanon .
#   docker run --rm --network none --user "$(id -u):$(id -g)" -v "$PWD:/data" kanon diagnose people.csv --qi age,sex -k 5
#
# Data stay in the folder that is given to it. The studio is not for an image: it answers its own machine alone.
FROM debian:12-slim AS build
ENV DEBIAN_FRONTEND=noninteractive
COPY . /src/kanon
WORKDIR /src/kanon
RUN apt-get update && apt-get install -y --no-install-recommends dpkg-dev && apt-get build-dep -y --no-install-recommends ./
RUN dpkg-buildpackage --build=any --no-sign

FROM debian:12-slim
ENV DEBIAN_FRONTEND=noninteractive
RUN --mount=type=bind,from=build,source=/src,target=/src \
    apt-get update && apt-get install -y --no-install-recommends /src/kanon_*.deb libpq5 && rm -rf /var/lib/apt/lists/*
USER nobody
WORKDIR /data
ENTRYPOINT ["kanon"]
CMD ["--help"]
