import type { Permission } from '../session/permission.ts';

/** Groups of the menu, in its order. */
export const GROUPS = ['Snaps', 'Packages', 'Run', 'Power', 'Kernel', 'Labels', 'Security', 'Remove'] as const;

export interface Action {
  id: string;
  /** Heading of its page and entry of the menu. */
  label: string;
  /** Name of the button that does it. */
  verb: string;
  group: (typeof GROUPS)[number];
  /** All of them are needed on each computer, or on the account. */
  permissions: readonly Permission[];
  /** Whether it takes several computers at once. */
  takesMany: boolean;
  /** The computer has to be online for it; what the server does by itself works at any time. */
  needsContact: boolean;
  /** When the person confirms by typing the title of the computer or the number of computers. */
  confirm: 'never' | 'many' | 'always';
  /** Whether it is done at once, without an activity that computers carry out. */
  isImmediate: boolean;
  /** What an administrator should know before; shown above the button. */
  warning?: string;
}

type Definition = Pick<Action, 'id' | 'label' | 'verb' | 'group'> & Partial<Action>;

const onComputers = (definition: Definition): Action => ({
  permissions: ['ManageComputer'],
  takesMany: true,
  needsContact: true,
  confirm: 'never',
  isImmediate: false,
  ...definition,
});
const edit = (definition: Omit<Definition, 'group'>): Action =>
  onComputers({ ...definition, group: 'Labels', needsContact: false, isImmediate: true });

/** Every action on computers. */
export const ACTIONS: readonly Action[] = [
  onComputers({ id: 'install-snaps', label: 'Install snaps', verb: 'Install', group: 'Snaps' }),
  onComputers({ id: 'refresh-snaps', label: 'Refresh snaps', verb: 'Refresh', group: 'Snaps' }),
  onComputers({ id: 'remove-snaps', label: 'Remove snaps', verb: 'Remove', group: 'Snaps' }),
  onComputers({ id: 'hold-snaps', label: 'Hold snaps', verb: 'Hold', group: 'Snaps' }),
  onComputers({ id: 'unhold-snaps', label: 'Release held snaps', verb: 'Release', group: 'Snaps' }),
  onComputers({ id: 'install-packages', label: 'Install packages', verb: 'Install', group: 'Packages' }),
  onComputers({ id: 'upgrade-packages', label: 'Upgrade packages', verb: 'Upgrade', group: 'Packages' }),
  onComputers({ id: 'downgrade-packages', label: 'Downgrade packages', verb: 'Downgrade', group: 'Packages' }),
  onComputers({ id: 'remove-packages', label: 'Remove packages', verb: 'Remove', group: 'Packages' }),
  onComputers({ id: 'hold-packages', label: 'Hold packages', verb: 'Hold', group: 'Packages' }),
  onComputers({ id: 'unhold-packages', label: 'Release held packages', verb: 'Release', group: 'Packages' }),
  onComputers({
    ...{ id: 'run-script', label: 'Run a script', verb: 'Run', group: 'Run' },
    permissions: ['ExecuteScript'],
  }),
  onComputers({
    ...{ id: 'terminate-processes', label: 'Terminate processes', verb: 'Terminate', group: 'Run' },
    takesMany: false,
  }),
  onComputers({
    ...{ id: 'kill-processes', label: 'Kill processes', verb: 'Kill', group: 'Run' },
    takesMany: false,
    warning: 'The processes end at once and save nothing.',
  }),
  onComputers({ id: 'restart', label: 'Restart', verb: 'Restart', group: 'Power', confirm: 'many' }),
  onComputers({
    ...{ id: 'shutdown', label: 'Shut down', verb: 'Shut down', group: 'Power', confirm: 'many' },
    warning: 'Flotilla cannot start a computer again that is shut down.',
  }),
  onComputers({ id: 'upgrade-kernel', label: 'Upgrade the kernel', verb: 'Upgrade', group: 'Kernel' }),
  onComputers({ id: 'downgrade-kernel', label: 'Downgrade the kernel', verb: 'Downgrade', group: 'Kernel' }),
  edit({ id: 'add-tags', label: 'Add tags', verb: 'Add' }),
  edit({ id: 'remove-tags', label: 'Remove tags', verb: 'Remove' }),
  edit({ id: 'annotate', label: 'Set an annotation', verb: 'Set' }),
  edit({ id: 'remove-annotation', label: 'Remove an annotation', verb: 'Remove' }),
  edit({ id: 'change-access-group', label: 'Move to an access group', verb: 'Move' }),
  onComputers({
    ...{ id: 'generate-recovery-key', label: 'Generate a recovery key', verb: 'Generate', group: 'Security' },
    permissions: ['ManageComputer', 'ManageSecrets'],
    takesMany: false,
    warning: 'The new key replaces the present one.',
  }),
  onComputers({
    ...{ id: 'sanitize', label: 'Sanitize', verb: 'Sanitize', group: 'Security', confirm: 'always' },
    warning: 'Erases the keys of all encrypted volumes, which become permanently unreadable. This cannot be undone.',
  }),
  onComputers({
    ...{ id: 'archive', label: 'Archive', verb: 'Archive', group: 'Remove', confirm: 'always', needsContact: false },
    warning:
      'Archived computers leave all lists and profiles, what is still to be done on them is canceled, and their recovery keys are deleted. This cannot be undone.',
  }),
  onComputers({
    ...{ id: 'delete', label: 'Delete', verb: 'Delete', group: 'Remove', confirm: 'always', needsContact: false },
    isImmediate: true,
    warning: 'Computers are removed with everything that they have reported. This cannot be undone.',
  }),
];

/** An action by its id. */
export function findAction(id: string): Action | undefined {
  return ACTIONS.find((action) => action.id === id);
}

/** The actions that fit a number of computers and that the person may do, at least somewhere. */
export function actionsFor(count: number, can: (permission: Permission) => boolean): Action[] {
  return ACTIONS.filter(
    ({ takesMany, permissions }) => (count === 1 || (takesMany && count > 1)) && permissions.every((name) => can(name)),
  );
}

/** Whether the person has to type what they confirm. */
export function needsConfirmation({ confirm }: Action, count: number): boolean {
  return confirm === 'always' || (confirm === 'many' && count > 1);
}
