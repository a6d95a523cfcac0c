/** One published SDK: what it needs here, how its host application is fetched, built and launched. */
export interface Sdk {
  name: string;
  /** What is fetched; the version stands in the host's own manifest (requirements.txt, pom.xml, go.mod). */
  artifact: string;
  /** Our host application's folder; any change in it makes a new build. */
  sources: string;
  findToolchain(): Promise<Toolchain>;
  /** Fetches the artifact and its dependencies into `home`; throws what the package manager said. */
  fetch(home: string, toolchain: FoundToolchain): Promise<void>;
  /** Compiles the host into `home`, where `fetch` has been. */
  build(home: string, toolchain: FoundToolchain): Promise<void>;
  launch(home: string): Command;
  /** What the package manager says when the registry does not have the artifact or does not give it out. */
  saysAbsent: RegExp;
}

export interface FoundToolchain {
  kind: 'found';
  /** The command to call, as found on the path. */
  command: string;
  version: string;
}

/** `reason` is one sentence for a person: what is missing and what to install. */
export type Toolchain = FoundToolchain | { kind: 'missing'; reason: string };

export interface Command {
  file: string;
  args: string[];
}
