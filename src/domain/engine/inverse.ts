import {
  type SnapAction,
  type SnapEntry,
  snapMessage,
  snapOperationSummary,
  snapOperationType,
} from '../activities/snap-actions.ts';
import { parseInstant } from '../common/instant.ts';

export interface DoneOperation {
  type: string;
  summary: string;
  message: { type: string; fields: Readonly<Record<string, unknown>> };
  /** Packages that the computer added to satisfy dependencies. */
  complemented: { install: readonly number[]; remove: readonly number[] };
  /** Named snaps installed before, with the end of their hold or null; null when unknown. */
  snapsBefore: Readonly<Record<string, string | null>> | null;
}

interface InverseOperation {
  type: string;
  summary: string;
  message: { type: string; fields: Readonly<Record<string, unknown>> };
}

/** Changes only the listed packages, including additions. @see docs/agent-protocol.md#package-changes */
const POLICY_LISTED = 0;

const PACKAGE_INVERSES: Readonly<Record<string, string>> = {
  ChangePackagesRequest: 'ChangePackagesRequest',
  UpgradeKernelPackageRequest: 'DowngradeKernelPackageRequest',
  DowngradeKernelPackageRequest: 'UpgradeKernelPackageRequest',
};

/**
 * In order; empty when there is nothing to undo. Without known earlier state, a snap counts as absent, and its updates
 * as held forever before an unhold, else not held. @see docs/api-conventions.md#cancel-approve-reapply-revert
 */
export function inverseOf(done: DoneOperation, now: Date): InverseOperation[] {
  switch (done.message.type) {
    case 'install-snaps':
      return snapOperations('remove', undoInstall(done));
    case 'hold-snaps':
    case 'unhold-snaps':
      return undoHolds(done, now);
    case 'change-packages':
      return undoPackages(done);
    default:
      return [];
  }
}

function undoInstall({ message, snapsBefore }: DoneOperation): SnapEntry[] {
  return entriesOf(message.fields).filter(({ name }) => !Object.hasOwn(snapsBefore ?? {}, name));
}

function undoHolds({ message, snapsBefore }: DoneOperation, now: Date): InverseOperation[] {
  const holding = message.type === 'hold-snaps';
  const held: SnapEntry[] = [];
  const free: SnapEntry[] = [];
  for (const { name, time } of entriesOf(message.fields)) {
    const known = snapsBefore !== null && Object.hasOwn(snapsBefore, name) ? snapsBefore[name]! : null;
    const before = snapsBefore === null && !holding ? FOREVER : known;
    const wanted = holding ? (time ?? FOREVER) : null;
    if (before === wanted) continue;
    if (before !== null && !hasPassed(before, now)) held.push({ name, time: before });
    else if (holding) free.push({ name });
  }
  return [...snapOperations('hold', held), ...snapOperations('unhold', free)];
}

const FOREVER = 'forever';

function hasPassed(time: string, now: Date): boolean {
  const moment = parseInstant(time);
  return moment !== null && moment <= now;
}

function snapOperations(action: SnapAction, snaps: readonly SnapEntry[]): InverseOperation[] {
  if (snaps.length === 0) return [];
  const summary = snapOperationSummary(action, snaps);
  return [{ type: snapOperationType(action), summary, message: snapMessage(action, snaps) }];
}

interface SentSnap {
  name: string;
  args?: { time?: string };
}

function entriesOf(fields: Readonly<Record<string, unknown>>): SnapEntry[] {
  return (fields['snaps'] as SentSnap[]).map(({ name, args }) => (args?.time ? { name, time: args.time } : { name }));
}

function undoPackages({ type, summary, message, complemented }: DoneOperation): InverseOperation[] {
  const requested = (list: string) => (message.fields[list] as number[] | undefined) ?? [];
  const lists = {
    install: union(requested('remove'), complemented.remove),
    remove: union(requested('install'), complemented.install),
    hold: requested('remove-hold'),
    'remove-hold': requested('hold'),
  };
  const fields = Object.fromEntries(Object.entries(lists).filter(([, ids]) => ids.length > 0));
  if (Object.keys(fields).length === 0) return [];
  return [
    {
      type: PACKAGE_INVERSES[type] ?? type,
      summary: revertSummary(summary),
      message: { type: message.type, fields: { ...fields, policy: POLICY_LISTED } },
    },
  ];
}

function union(...lists: ReadonlyArray<readonly number[]>): number[] {
  return [...new Set(lists.flat())];
}

export function revertSummary(summary: string): string {
  return `Revert: ${summary}`;
}
