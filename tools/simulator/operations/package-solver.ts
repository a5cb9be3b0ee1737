import type { Catalogue, CataloguePackage } from '../catalogue/packages.ts';

export interface PackageChange {
  install: readonly CataloguePackage[];
  remove: readonly CataloguePackage[];
  hold: readonly CataloguePackage[];
  release: readonly CataloguePackage[];
}

/** What must change beside the listed packages to keep all dependencies. */
export interface Complement {
  install: readonly CataloguePackage[];
  remove: readonly CataloguePackage[];
}

/**
 * Finds the replaced versions, the requirements of new packages, and the packages that depend on removed ones. A kernel
 * meta package installs its image this way.
 */
export function missingCompanions(
  catalogue: Catalogue,
  installed: readonly number[],
  { install, remove }: PackageChange,
): Complement {
  const after = new Map(installed.map((index) => [catalogue.packages[index]!.name, catalogue.packages[index]!]));
  const complement = { install: [] as CataloguePackage[], remove: [] as CataloguePackage[] };
  for (const entry of remove) after.delete(entry.name);
  const add = (entry: CataloguePackage): void => {
    const replaced = after.get(entry.name);
    if (replaced === entry) return;
    if (replaced) complement.remove.push(replaced);
    after.set(entry.name, entry);
    for (const name of entry.requires) {
      const wanted = catalogue.byName.get(name)?.at(-1);
      if (!wanted || after.has(name) || install.includes(wanted)) continue;
      complement.install.push(wanted);
      add(wanted);
    }
  };
  for (const entry of install) add(entry);
  for (;;) {
    const broken = [...after.values()].find(
      (entry) => !entry.requires.every((name) => isProvided(catalogue, after, name)),
    );
    if (!broken) return complement;
    after.delete(broken.name);
    complement.remove.push(broken);
  }
}

/** The catalogue has only part of the archive; other names count as provided. */
function isProvided(catalogue: Catalogue, after: ReadonlyMap<string, CataloguePackage>, name: string): boolean {
  return !catalogue.byName.has(name) || after.has(name);
}
