export function documentsIn(root: string): Promise<string[]>;
export function writeDocuments(root: string, folder: string): Promise<void>;
