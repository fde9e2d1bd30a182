import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Starts DynamoDB Local, which has no option for an address, on 127.0.0.1 only; it ends when its standard input does. */
class LocalServer {
    public static void main(String[] options) throws Exception {
        DynamoDBProxyServer service = ServerRunner.createServerFromCommandLineArgs(options);
        var field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        var connector = (ServerConnector) ((Server) field.get(service)).getConnectors()[0];
        connector.setHost("127.0.0.1");
        connector.setPort(0);
        service.start();
        System.out.println("DynamoDB Local listens on port " + connector.getLocalPort());
        while (System.in.read() != -1);
        System.exit(0);
    }
}
