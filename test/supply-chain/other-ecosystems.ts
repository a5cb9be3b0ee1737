import { readFileSync } from 'node:fs';

/** A component that does not come from npm. */
export interface PinnedModule {
  name: string;
  version: string;
  purl: string;
}

const SUM = /^(\S+) (v[^\s/]+)(\/go\.mod)? (h1:[A-Za-z0-9+/]{43}=)$/;
const GO_VERSION = /^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+incompatible)?$/;

/** The modules that `tools/temporal-server/program/go.mod` pins: the Temporal server and its web UI are built from them. */
export function goModules(text = readFileSync('tools/temporal-server/program/go.mod', 'utf8')): PinnedModule[] {
  return [...text.matchAll(/^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+|[\w-]+\.[\w.-]+)\s+(v\S+)/gm)].map((match) => {
    const [, name = '', version = ''] = match;
    return { name, version, purl: `pkg:golang/${name}@${encodeURIComponent(version)}` };
  });
}

/** Modules without an exact version, or without a hash in `tools/temporal-server/program/go.sum`, and replacements by something else. */
export function goProblems(
  mod = readFileSync('tools/temporal-server/program/go.mod', 'utf8'),
  sum = readFileSync('tools/temporal-server/program/go.sum', 'utf8'),
): string[] {
  const lines = sum.trim().split('\n');
  const known = new Set(lines.map((line) => SUM.exec(line)).map((match) => `${match?.[1]} ${match?.[2]}`));
  const modules = goModules(mod);
  return [
    ...(modules.length > 0 ? [] : ['tools/temporal-server/program/go.mod requires nothing']),
    ...lines
      .filter((line) => !SUM.test(line))
      .map((line) => `tools/temporal-server/program/go.sum: "${line}" is no hash`),
    ...modules.filter(({ version }) => !GO_VERSION.test(version)).map((m) => `${m.name} ${m.version} is not exact`),
    ...modules.filter((m) => !known.has(`${m.name} ${m.version}`)).map((m) => `${m.name} ${m.version} has no hash`),
    ...(/^\s*replace\b/m.test(mod) ? ['tools/temporal-server/program/go.mod replaces a module'] : []),
  ];
}

const POM = 'tools/temporal-server/test-server.pom.xml';

/** The artefacts that the Maven file names: the time-skipping test server where none can be downloaded. */
export function mavenArtefacts(text = readFileSync(POM, 'utf8')): PinnedModule[] {
  return [...text.matchAll(/<(?:dependency|plugin)>(.*?)<\/(?:dependency|plugin)>/gs)].map(([, inner = '']) => {
    const field = (name: string): string => new RegExp(`<${name}>\\s*(.*?)\\s*</${name}>`).exec(inner)?.[1] ?? '';
    const name = `${field('groupId')}:${field('artifactId')}`;
    const version = field('version');
    return { name, version, purl: `pkg:maven/${name.replace(':', '/')}@${version}` };
  });
}

/** Artefacts without one exact, final version. */
export function mavenProblems(text = readFileSync(POM, 'utf8')): string[] {
  const artefacts = mavenArtefacts(text);
  return [
    ...(artefacts.length > 0 ? [] : [`${POM} names nothing`]),
    ...artefacts
      .filter(({ version }) => !/^\d+(\.\d+)+$/.test(version))
      .map(({ name, version }) => `${name}: "${version}" is not one final version`),
    ...(/<(repository|pluginRepository)>/.test(text) ? [`${POM} names a repository of its own`] : []),
  ];
}
