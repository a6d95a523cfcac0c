import { readFile } from 'node:fs/promises';
import { validateXML } from 'xmllint-wasm';

/** GitHub and GitLab read them of a testcase; the schema has none for it. */
const FILE_OR_LINE = /Element 'testcase', attribute '(file|line)': The attribute '\1' is not allowed/;

/** In which ways a report is not what the schema says that the xUnit plugin of Jenkins publishes (junit-10.xsd). */
export async function schemaProblems(xml: string): Promise<string[]> {
  const schema = await readFile(new URL('./junit-10.xsd', import.meta.url), 'utf8');
  const { errors } = await validateXML({ xml: { fileName: 'report.xml', contents: xml }, schema });
  return errors.map(({ rawMessage }) => rawMessage);
}

/** The same without those that say of a testcase that it has a file or a line. */
export async function otherProblems(xml: string): Promise<string[]> {
  return (await schemaProblems(xml)).filter((problem) => !FILE_OR_LINE.test(problem));
}
