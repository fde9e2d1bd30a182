import type { HttpRequest } from "@smithy/core/protocols";
import type { MiddlewareStack } from "@smithy/types";

interface Configuration {
  /** The parts of the header, such as `["aws-sdk-js", "3.0.0"]` and `["os/linux", "6.1"]`. */
  readonly defaultUserAgentProvider: () => Promise<readonly (readonly [name: string, version?: string])[]>;
}

/**
 * Sets the header `User-Agent` as the SDK does, but composes it once for a client: without the features of the SDK that a
 * call uses, which it lists for AWS's statistics.
 */
export const getUserAgentPlugin = ({ defaultUserAgentProvider }: Configuration) => ({
  applyToStack(stack: MiddlewareStack<object, object>) {
    const userAgent = defaultUserAgentProvider().then((parts) =>
      parts.map(([name, ...version]) => [name, ...version].join(name.includes("/") ? "#" : "/")).join(" "),
    );
    stack.add(
      (next) => async (args) => {
        (args.request as HttpRequest).headers["user-agent"] = await userAgent;
        return next(args);
      },
      { step: "build", name: "getUserAgentMiddleware" },
    );
  },
});

// The SDK exports these too.
export const userAgentMiddleware = undefined;
export const getUserAgentMiddlewareOptions = undefined;
