/** @see docs/api-conventions.md#snaps */
export const SNAP_ACTIONS = ['install', 'remove', 'refresh', 'hold', 'unhold'] as const;

export type SnapAction = (typeof SNAP_ACTIONS)[number];

/** One snap of a request; keys that do not apply to its action are ignored. */
export interface SnapEntry {
  name: string;
  channel?: string;
  revision?: string;
  classic?: boolean;
  /** End of the hold: an RFC 3339 moment or `forever`. */
  time?: string;
}

/** Message to the agent. @see docs/agent-protocol.md#snaps */
interface SnapMessage {
  type: string;
  fields: { snaps: Array<{ name: string; args?: Record<string, string | boolean> }> };
}

const TYPES: Readonly<Record<SnapAction, string>> = {
  install: 'InstallSnaps',
  remove: 'RemoveSnaps',
  refresh: 'RefreshSnaps',
  hold: 'HoldSnaps',
  unhold: 'UnholdSnaps',
};

const SHOWN_NAMES = 3;

export function snapOperationType(action: SnapAction): string {
  return TYPES[action];
}

/** Summary of the group, for example "Install snaps on computer". */
export function snapGroupSummary(action: SnapAction): string {
  return `${verb(action)} snaps on computer`;
}

/** Summary of one operation, for example "Install snap hello" or "Hold snaps a, b, c and 2 more". */
export function snapOperationSummary(action: SnapAction, snaps: readonly SnapEntry[]): string {
  const names = snaps.slice(0, SHOWN_NAMES).map(({ name }) => name);
  const more = snaps.length > SHOWN_NAMES ? ` and ${snaps.length - SHOWN_NAMES} more` : '';
  return `${verb(action)} snap${snaps.length === 1 ? '' : 's'} ${names.join(', ')}${more}`;
}

/** Only the arguments of `action`, because agents do not respond to unknown ones. */
export function snapMessage(action: SnapAction, snaps: readonly SnapEntry[]): SnapMessage {
  const entries = snaps.map((snap) => {
    const args = snapArguments(action, snap);
    return Object.keys(args).length > 0 ? { name: snap.name, args } : { name: snap.name };
  });
  return { type: `${action}-snaps`, fields: { snaps: entries } };
}

function snapArguments(action: SnapAction, snap: SnapEntry): Record<string, string | boolean> {
  const args: Record<string, string | boolean> = {};
  if (action === 'hold') return { hold_level: 'general', time: snap.time ?? 'forever' };
  if (action !== 'install' && action !== 'refresh') return args;
  if (snap.channel !== undefined) args['channel'] = snap.channel;
  if (snap.revision !== undefined) args['revision'] = snap.revision;
  if (action === 'install' && snap.classic) args['classic'] = true;
  return args;
}

function verb(action: SnapAction): string {
  return action.charAt(0).toUpperCase() + action.slice(1);
}
