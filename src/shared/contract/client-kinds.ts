/** How clients write requests and results. What each of them does differently stands in the worker's `dialects/`. */
export const dialectNames = ['rule', 'ice'] as const;
export type DialectName = (typeof dialectNames)[number];

/** The SDK that a client is made with, as far as its registration tells. */
export const sdkNames = ['node', 'java', 'go', 'python', 'unknown'] as const;
export type SdkName = (typeof sdkNames)[number];
