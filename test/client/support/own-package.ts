/** A program of the documents, which names the package of the SDK, as one that the repository itself can run. */
export const inRepository = (code: string): string => code.replaceAll("'rule-server-client", "'rule-server/client");
