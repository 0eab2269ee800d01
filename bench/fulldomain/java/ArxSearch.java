/* ArxSearch.java: ARX's searches of large lattices on a table of bench/fulldomain/wide.py; compiled and run by bench/fulldomain/arx.
 *
 *     ArxSearch FOLDER COLUMNS K SUPPRESSION SECONDS ALGORITHM...
 *
 * The first COLUMNS columns of FOLDER/wide.csv are quasi-identifiers. Prints one line of JSON per algorithm (genetic, top-down,
 * bottom-up): the levels chosen, in the order of the columns, and the seconds taken.
 * SPDX-License-Identifier: Apache-2.0
 */
import java.io.File;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXConfiguration.AnonymizationAlgorithm;
import org.deidentifier.arx.ARXLattice.ARXNode;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

public class ArxSearch {
    private static AnonymizationAlgorithm algorithm(String name) {
        switch (name) {
        case "genetic": return AnonymizationAlgorithm.BEST_EFFORT_GENETIC;
        case "top-down": return AnonymizationAlgorithm.BEST_EFFORT_TOP_DOWN;
        case "bottom-up": return AnonymizationAlgorithm.BEST_EFFORT_BOTTOM_UP;
        default: throw new IllegalArgumentException(name);
        }
    }

    private static Data load(String folder, int columns) throws Exception {
        Data data = Data.create(folder + "/wide.csv", StandardCharsets.UTF_8, ',');
        for (int i = 1; i <= columns; i++) {
            File file = new File(folder, "wide_hierarchy_c" + i + ".csv");
            data.getDefinition().setAttributeType("c" + i, Hierarchy.create(file, StandardCharsets.UTF_8, ';'));
        }
        int all = data.getHandle().getNumColumns();
        for (int i = columns + 1; i <= all; i++)
            data.getDefinition().setAttributeType("c" + i, org.deidentifier.arx.AttributeType.INSENSITIVE_ATTRIBUTE);
        return data;
    }

    public static void main(String[] args) throws Exception {
        int columns = Integer.parseInt(args[1]), k = Integer.parseInt(args[2]);
        double suppression = Double.parseDouble(args[3]);
        int limit = (int) (1000 * Double.parseDouble(args[4]));
        for (int a = 5; a < args.length; a++) {
            Data data = load(args[0], columns);
            ARXConfiguration config = ARXConfiguration.create();
            config.addPrivacyModel(new KAnonymity(k));
            config.setSuppressionLimit(suppression);
            config.setQualityModel(Metric.createLossMetric(AggregateFunction.ARITHMETIC_MEAN));
            config.setAlgorithm(algorithm(args[a]));
            config.setHeuristicSearchTimeLimit(limit);
            config.setHeuristicSearchStepLimit(Integer.MAX_VALUE);
            long begin = System.nanoTime();
            ARXResult result = new ARXAnonymizer().anonymize(data, config);
            double seconds = (System.nanoTime() - begin) * 1e-9;
            ARXNode node = result.isResultAvailable() ? result.getGlobalOptimum() : null;
            StringBuilder levels = new StringBuilder();
            for (int i = 1; node != null && i <= columns; i++)
                levels.append(i > 1 ? "," : "").append(node.getGeneralization("c" + i));
            System.out.printf("{\"search\": \"%s\", \"seconds\": %.3f, \"node\": \"%s\"}%n", args[a], seconds, levels);
        }
    }
}
