/** Ubuntu releases with their release dates, oldest first; every fourth has long-term support. */
const RELEASES: ReadonlyArray<readonly [version: string, day: string]> = [
  ['14.04', '2014-04-17'],
  ['16.04', '2016-04-21'],
  ['18.04', '2018-04-26'],
  ['20.04', '2020-04-23'],
  ['22.04', '2022-04-21'],
  ['22.10', '2022-10-20'],
  ['23.04', '2023-04-20'],
  ['23.10', '2023-10-12'],
  ['24.04', '2024-04-25'],
  ['24.10', '2024-10-10'],
  ['25.04', '2025-04-17'],
  ['25.10', '2025-10-09'],
  ['26.04', '2026-04-23'],
  ['26.10', '2026-10-15'],
];

const LONG_TERM = /^\d[02468]\.04$/;

interface UpgradableReleases {
  lts: string[];
  normal: string[];
}

/** Which Ubuntu versions have a newer release. Those without long-term support upgrade to any next release. */
export function upgradableReleases(now: Date): UpgradableReleases {
  const day = now.toISOString().slice(0, 10);
  const out = RELEASES.filter(([, released]) => released <= day).map(([version]) => version);
  const newestLongTerm = out.findLast((version) => LONG_TERM.test(version)) ?? '';
  return {
    lts: out.filter((version) => (LONG_TERM.test(version) ? version < newestLongTerm : version !== out.at(-1))),
    normal: out.slice(0, -1),
  };
}
