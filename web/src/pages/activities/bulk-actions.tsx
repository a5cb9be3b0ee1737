import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import type { RowSource } from '../../ui/use-rows.ts';
import type { Selection } from '../../ui/use-selection.ts';
import type { Group } from './activity-queries.ts';
import { ENDED } from './line-at.ts';

const VERBS = {
  cancel: {
    label: 'Cancel',
    effect:
      'Computers that have not received it will not. What a computer has received already may still be carried out.',
    allows: ({ activity_status }: Group) => !ENDED.includes(activity_status),
  },
  approve: {
    label: 'Approve',
    effect: 'They start at once, or when their time has come.',
    allows: ({ activity_status }: Group) => activity_status === 'unapproved',
  },
} as const;
type Verb = keyof typeof VERBS;

/** What can be done with several activities of the list. */
export function BulkActions({ rows, selection }: { rows: RowSource<Group>; selection: Selection }) {
  const queryClient = useQueryClient();
  const [verb, setVerb] = useState<Verb>('cancel');
  const [isOpen, setOpen] = useState(false);
  const length = selection.ids.size > 0 ? (rows.count ?? 0) : 0;
  const loaded = Array.from({ length }, (_, index) => rows.get(index)).filter((row) => row !== undefined);
  const idsFor = (name: Verb) => {
    const unfit = new Set(loaded.filter((row) => !VERBS[name].allows(row)).map(({ id }) => id));
    return [...selection.ids].filter((id) => !unfit.has(id));
  };
  const activity_ids = idsFor(verb);
  const { label, effect } = VERBS[verb];
  const confirm = async () => {
    await client.POST(`/activities/${verb}`, { body: { activity_ids } });
    selection.clear();
    await queryClient.invalidateQueries({ queryKey: ['activities'] });
  };
  return (
    <>
      {selection.ids.size > 0 && <span className="quiet bulk-count">{selection.ids.size} selected</span>}
      <Menu label="Actions" disabled={selection.ids.size === 0}>
        {(Object.keys(VERBS) as Verb[]).map((name) => (
          <MenuItem
            key={name}
            disabled={idsFor(name).length === 0}
            onSelect={() => {
              setVerb(name);
              setOpen(true);
            }}
          >
            {VERBS[name].label} {idsFor(name).length > 0 && countText(idsFor(name).length)}
          </MenuItem>
        ))}
      </Menu>
      <ConfirmDialog
        title={`${label} ${countText(activity_ids.length)}?`}
        verb={label}
        danger={verb === 'cancel'}
        open={isOpen}
        onOpenChange={setOpen}
        onConfirm={confirm}
      >
        <p>{effect}</p>
        <CopyAs
          request={{ method: 'POST', path: `/activities/${verb}`, body: { activity_ids } }}
          command={['activities', verb, ...activity_ids.map(String), '--yes']}
        />
      </ConfirmDialog>
    </>
  );
}

const countText = (count: number) => (count === 1 ? '1 activity' : `${count} activities`);
