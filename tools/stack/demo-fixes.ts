import type { KnownFix } from '../../src/persistence/software/kernels.sql.ts';

/** Kernels offered to simulated computers besides that of their release: upstream version and ABI numbers. */
const KERNELS = [
  { base: '5.15.0', abis: [161, 168], dottedMeta: true },
  { base: '6.8.0', abis: [94, 101], dottedMeta: false },
  { base: '6.17.0', abis: [12, 19], dottedMeta: false },
  { base: '7.0.0', abis: [17, 22], dottedMeta: false },
] as const;

const FLAVOURS = ['generic', 'aws', 'azure', 'gcp'] as const;
const RELEASE_DATES = ['2026-08-17', '2026-11-09'] as const;
const FIRST_NOTICE = 9001;

/** Invented notices about the kernels of the simulated world, so that its listings show what an upgrade fixes. */
export function demoFixes(): KnownFix[] {
  return KERNELS.flatMap(({ base, abis, dottedMeta }, place) =>
    abis.flatMap((abi, step) => {
      const notice = FIRST_NOTICE + place * abis.length + step;
      return FLAVOURS.map((flavour) => ({
        package_name: `linux-image-${flavour}`,
        package_version: dottedMeta ? `${base}.${abi}.${abi}` : `${base}-${abi}.${abi}`,
        name: `${notice}-1`,
        release_date: RELEASE_DATES[step]!,
        summary: `Several security issues were fixed in the Linux kernel ${base}.`,
        cves: [1, 2].map((n) => `CVE-2026-${String(notice * 10 + n)}`),
      }));
    }),
  );
}
