import { createRandom } from '../random.ts';
import { packageHash, RELATION, type Relation } from './package-hash.ts';
import { type Audience, PACKAGE_TABLE, type Pocket, type TableRow } from './package-table.ts';
import { type KernelFlavour, RELEASES, type ReleaseName } from './releases.ts';

/** One version of one package in the archive of a release. */
export interface CataloguePackage {
  index: number;
  name: string;
  version: string;
  section: string;
  summary: string;
  size: number;
  installedSize: number;
  pocket: Pocket;
  audience: Audience | 'kernel';
  /** Names, or `name = version`, that must be installed beside it. */
  requires: readonly string[];
  relations: readonly Relation[];
  hash: Buffer;
}

/** All package versions for machines of one release and kernel flavour, shared by them. */
export interface Catalogue {
  readonly release: ReleaseName;
  readonly packages: readonly CataloguePackage[];
  readonly byName: ReadonlyMap<string, readonly CataloguePackage[]>;
  /** Name of the kernel meta package; null where the kernel belongs to the host, as in WSL instances. */
  readonly kernelMeta: string | null;
}

/** The archive is the same for every seed, as the server's package ids belong to it and not to a fleet. */
const ARCHIVE_SEED = 20_261_121;

const catalogues = new Map<string, Catalogue>();

export function catalogueOf(release: ReleaseName, flavour: KernelFlavour | null): Catalogue {
  const key = `${release}/${flavour}`;
  let known = catalogues.get(key);
  if (!known) {
    known = makeCatalogue(release, flavour);
    catalogues.set(key, known);
  }
  return known;
}

function makeCatalogue(release: ReleaseName, flavour: KernelFlavour | null): Catalogue {
  const packages = [
    ...PACKAGE_TABLE.flatMap((row) => versionsOf(row, release)),
    ...(flavour ? kernelsOf(release, flavour) : []),
  ].map((draft, index): CataloguePackage => {
    const relations = relationsOf(draft);
    return { ...draft, index, relations, hash: packageHash(draft.name, draft.version, relations) };
  });
  const byName = new Map<string, CataloguePackage[]>();
  for (const entry of packages) {
    const versions = byName.get(entry.name);
    if (versions) versions.push(entry);
    else byName.set(entry.name, [entry]);
  }
  return { release, packages, byName, kernelMeta: flavour && `linux-image-${flavour}` };
}

type Draft = Omit<CataloguePackage, 'index' | 'relations' | 'hash'>;

function versionsOf(row: TableRow, release: ReleaseName): Draft[] {
  const random = createRandom(ARCHIVE_SEED, row.name, release);
  const { name, section, summary, audience, requires } = row;
  const base = { name, section, summary, audience, requires };
  const size = random.int(20, 4000) * 1024;
  const first: Draft = {
    ...base,
    version: row.versions[release],
    size,
    installedSize: size * 3,
    pocket: 'release',
  };
  if (row.newest === 'release') return [first];
  const update = `${first.version}.${random.int(2, 19)}`;
  return [first, { ...first, version: update, size: size + 2048, pocket: row.newest }];
}

function kernelsOf(release: ReleaseName, flavour: KernelFlavour): Draft[] {
  const { base, abis, dottedMeta } = RELEASES[release].kernel;
  return abis.flatMap((abi, step) => {
    const pocket: Pocket = step === 0 ? 'release' : step === 1 ? 'updates' : 'security';
    const image = `linux-image-${base}-${abi}-${flavour}`;
    const imageVersion = `${base}-${abi}.${abi}`;
    const common = { section: 'kernel', audience: 'kernel' as const, pocket };
    return [
      {
        ...common,
        name: image,
        version: imageVersion,
        summary: `Signed kernel image ${flavour}`,
        size: 14_000_000 + abi,
        installedSize: 15_000_000 + abi,
        requires: [],
      },
      {
        ...common,
        name: `linux-image-${flavour}`,
        version: dottedMeta ? `${base}.${abi}.${abi}` : imageVersion,
        summary: `Kernel image for ${flavour} systems`,
        size: 10_240,
        installedSize: 20_480,
        requires: [image],
      },
    ];
  });
}

function relationsOf({ name, version, requires }: Draft): Relation[] {
  return [
    [RELATION.equals, `${name} = ${version}`],
    ...requires.map((required): Relation => [RELATION.requires, required]),
    [RELATION.replacesOlder, `${name} < ${version}`],
  ];
}
