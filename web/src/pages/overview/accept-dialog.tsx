import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import { client } from '../../api/client.ts';
import { accessGroupsQuery } from '../../api/lists.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import type { RequestToCopy } from '../../ui/shell-text.ts';
import { useDraft } from '../../ui/use-draft.ts';
import { ComputerName } from './computer-name.tsx';
import type { PendingComputer } from './pending.ts';

interface AcceptDialogProps {
  computers: readonly PendingComputer[];
  onClose: () => void;
}

/** Accepts computers, into an access group; one alone can get another title. */
export function AcceptDialog({ computers, onClose }: AcceptDialogProps) {
  const single = computers.length === 1 ? computers[0]! : null;
  const { draft, change, clear } = useDraft(`accept.${single?.id ?? 'several'}`, {
    group: '',
    title: single?.title ?? '',
  });
  const { group } = draft;
  const can = useCan();
  const mayRename = single !== null && can('ManageComputer', group || single.access_group);
  const leave = () => {
    clear();
    onClose();
  };
  const title = mayRename ? draft.title.trim() : '';
  const action = useAcceptance(computers, { group, title, onClose: leave });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!action.isPending) action.mutate();
  };
  return (
    <Dialog
      title={single ? 'Accept the computer' : `Accept ${computers.length.toLocaleString()} computers`}
      description={single && <ComputerName computer={single} />}
      open
      onOpenChange={onClose}
    >
      <form className="form" onSubmit={submit}>
        <GroupField computers={computers} value={group} onChange={(chosen) => change({ group: chosen })} />
        {mayRename && (
          <TextField
            label="Title"
            hint="How lists show the computer"
            required
            maxLength={255}
            value={draft.title}
            onChange={({ target }) => change({ title: target.value })}
          />
        )}
        <ErrorMessage error={action.error} />
        <div className="button-row">
          <Button kind="primary" type="submit" busy={action.isPending}>
            Accept
          </Button>
          <Button onClick={leave}>Keep waiting</Button>
        </div>
        <CopyAcceptance computers={computers} group={group} title={title} />
      </form>
    </Dialog>
  );
}

interface Acceptance {
  computers: readonly PendingComputer[];
  /** Empty for what each computer has requested. */
  group: string;
  /** Empty for what the computer has. */
  title: string;
}

function CopyAcceptance({ computers, group, title }: Acceptance) {
  const ids = computers.map(({ id }) => id);
  const body = { computer_ids: ids, ...(group !== '' && { access_group: group }) };
  const accept: RequestToCopy = { method: 'POST', path: '/pending-computers:accept', body };
  const renamed = renamedBy(computers, title);
  if (renamed)
    return <CopyAs request={[accept, { method: 'PUT', path: `/computers/${renamed.id}`, body: { title } }]} />;
  const options = group === '' ? [] : ['--access-group', group];
  return <CopyAs request={accept} command={['pending-computers', 'accept', ...ids.map(String), ...options]} />;
}

/** The computer that gets another title. */
function renamedBy([first]: readonly PendingComputer[], title: string): PendingComputer | null {
  return first && title !== '' && title !== first.title ? first : null;
}

/** Accepts, and then renames. When only the second fails, the next attempt does no more than that. */
function useAcceptance(
  computers: readonly PendingComputer[],
  { group, title, onClose }: { group: string; title: string; onClose: () => void },
) {
  const queryClient = useQueryClient();
  const isAccepted = useRef(false);
  return useMutation({
    mutationFn: async () => {
      const computer_ids = computers.map(({ id }) => id);
      if (!isAccepted.current) {
        const body = { computer_ids, ...(group !== '' && { access_group: group }) };
        await client.POST('/pending-computers:accept', { body });
        isAccepted.current = true;
      }
      const renamed = renamedBy(computers, title);
      if (!renamed) return;
      await client.PUT('/computers/{computer_id}', { params: { path: { computer_id: renamed.id } }, body: { title } });
    },
    onSuccess: onClose,
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['pending-computers'] }),
        queryClient.invalidateQueries({ queryKey: ['computers'] }),
      ]),
  });
}

function GroupField({
  computers,
  value,
  onChange,
}: {
  computers: readonly PendingComputer[];
  value: string;
  onChange: (group: string) => void;
}) {
  const can = useCan();
  const { data, error } = useQuery(accessGroupsQuery);
  const requested = new Set(computers.map(({ access_group }) => access_group));
  const titleOf = (name: string) => data?.find((group) => group.name === name)?.title ?? name;
  const [only] = requested.size === 1 ? requested : [];
  const options = [
    { value: '', label: only === undefined ? 'As each computer requested' : `As requested: ${titleOf(only)}` },
    ...(data ?? [])
      .filter(({ name }) => name !== only && can('ManagePendingComputer', name))
      .map(({ name, title }) => ({ value: name, label: title })),
  ];
  return (
    <>
      <SelectField
        label="Access group"
        hint="Decides who may view and manage the computer"
        options={options}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <ErrorMessage error={error} />
    </>
  );
}
