import { compareVersions } from './debian-version.ts';

export const PACKAGE_STATES = ['installed', 'available', 'upgrade', 'held', 'security'] as const;

export type PackageState = (typeof PACKAGE_STATES)[number];

export interface ReportedVersion extends Record<PackageState, boolean> {
  id: number;
  version: string;
}

export interface PackageStanding {
  /** Of the installed version, else of the newest available one. */
  id: number;
  status: 'held' | 'security' | 'installed' | 'available';
  current_version: string | null;
  available_version: string | null;
  available_id: number | null;
}

/** Summarizes the versions of one package on one computer. @param versions - at least one */
export function standingOf(versions: readonly ReportedVersion[]): PackageStanding {
  const newestFirst = [...versions].sort((a, b) => compareVersions(b.version, a.version));
  const current = newestFirst.find(({ installed }) => installed);
  const newest = newestFirst.find(({ available }) => available);
  return {
    id: (current ?? newest ?? newestFirst[0]!).id,
    status: statusOf(newestFirst, current),
    current_version: current?.version ?? null,
    available_version: newest?.version ?? null,
    available_id: newest?.id ?? null,
  };
}

function statusOf(versions: readonly ReportedVersion[], current: ReportedVersion | undefined) {
  if (!current) return 'available';
  if (current.held) return 'held';
  if (versions.some(({ security }) => security)) return 'security';
  return 'installed';
}
