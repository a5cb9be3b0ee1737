import { createHash } from 'node:crypto';
import { licenseOf } from './licenses.ts';
import { type LockFile, lockedPackages, type Manifest } from './lock-file.ts';
import { goModules, mavenArtefacts, type PinnedModule } from './other-ecosystems.ts';

interface Component {
  'bom-ref': string;
  type: 'library' | 'application';
  group?: string;
  name: string;
  version: string;
  scope?: 'required' | 'optional' | 'excluded';
  hashes?: Array<{ alg: 'SHA-512'; content: string }>;
  licenses?: Array<{ license: { id: string } } | { expression: string }>;
  purl: string;
}

/** A CycloneDX 1.5 document. */
export interface Sbom {
  $schema: string;
  bomFormat: 'CycloneDX';
  specVersion: '1.5';
  serialNumber: string;
  version: 1;
  metadata: { lifecycles: Array<{ phase: string }>; component: Component };
  components: Component[];
}

/**
 * The bill of materials of what the lock files pin: npm packages with their hashes and licences, Go modules and Maven
 * artefacts. The same files give the same document, serial number included.
 */
export function createSbom(manifest: Manifest, lock: LockFile): Sbom {
  const unique = new Map<string, Component>();
  for (const entry of lockedPackages(lock)) {
    const component = npmComponent(entry);
    const known = unique.get(component.purl);
    if (!known || known.scope === 'excluded') unique.set(component.purl, component);
  }
  for (const pinned of [...goModules(), ...mavenArtefacts()]) unique.set(pinned.purl, otherComponent(pinned));
  const components = [...unique.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
  const purl = `pkg:npm/${manifest.name}@${manifest.version}`;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([purl, components]))}`,
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'pre-build' }],
      component: { 'bom-ref': purl, type: 'application', name: manifest.name, version: manifest.version, purl },
    },
    components,
  };
}

function npmComponent(entry: ReturnType<typeof lockedPackages>[number]): Component {
  const version = entry.version ?? '';
  const purl = `pkg:npm/${entry.name.replace('@', '%40')}@${version}`;
  const [group, name] = entry.name.includes('/') ? entry.name.split('/') : [undefined, entry.name];
  const license = licenseOf(entry);
  const hash = Buffer.from((entry.integrity ?? '').replace('sha512-', ''), 'base64').toString('hex');
  return {
    'bom-ref': purl,
    type: 'library',
    ...(group ? { group } : {}),
    name: name ?? entry.name,
    version,
    scope: entry.dev ? 'excluded' : 'required',
    ...(hash ? { hashes: [{ alg: 'SHA-512' as const, content: hash }] } : {}),
    ...(license
      ? { licenses: [/ (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } }] }
      : {}),
    purl,
  };
}

/** Go and Maven make tools for those machines alone that cannot download them. */
function otherComponent({ name, version, purl }: PinnedModule): Component {
  return { 'bom-ref': purl, type: 'library', name, version, scope: 'optional', purl };
}

function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}
