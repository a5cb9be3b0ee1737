import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import type { AccessGroup } from '../../api/lists.ts';

const CHANGES = [['people'], ['me'], ['computers']];

/** Renames an access group, or creates one below another. */
export function GroupTitleForm({ group, parent }: { group?: AccessGroup; parent?: AccessGroup }) {
  const { close } = useOpenForm();
  const key = group ? `people.group.${group.name}` : `people.group-below.${parent?.name}`;
  const { draft, change, clear } = useDraft(key, { title: group?.title ?? '' });
  const params = { path: { access_group_name: group?.name ?? '' } };
  const created = { title: draft.title, parent: parent?.name ?? 'global' };
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb={group ? 'Rename' : 'Create'}
      send={() =>
        group
          ? client.PATCH('/access-groups/{access_group_name}', { params, body: draft })
          : client.POST('/access-groups', { body: created })
      }
      request={
        group
          ? { method: 'PATCH', path: pathOf(group), body: draft }
          : { method: 'POST', path: '/access-groups', body: created }
      }
      command={
        group
          ? ['access-groups', 'rename', group.name, draft.title]
          : ['access-groups', 'create', draft.title, '--parent', created.parent]
      }
      changes={CHANGES}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <TextField
          label="Title"
          required
          autoComplete="off"
          hint="Letters, digits, spaces, dashes and dots; other characters are removed."
          error={errorOf('title')}
          value={draft.title}
          onChange={(event) => change({ title: event.target.value })}
        />
      )}
    </ActionForm>
  );
}

/** Deletes an access group, whose computers move up. */
export function DeleteGroupForm({ group, parent }: { group: AccessGroup; parent: AccessGroup | undefined }) {
  const { close } = useOpenForm();
  const params = { path: { access_group_name: group.name } };
  return (
    <ActionForm
      verb="Delete"
      danger
      send={() => client.DELETE('/access-groups/{access_group_name}', { params })}
      request={{ method: 'DELETE', path: pathOf(group) }}
      command={['access-groups', 'remove', group.name]}
      changes={CHANGES}
      onDone={close}
      onCancel={close}
    >
      {() => (
        <p>
          Its computers and the groups below it move to <bdi>{parent?.title ?? 'the group above'}</bdi>. Roles that are
          limited to it no longer apply to them.
        </p>
      )}
    </ActionForm>
  );
}

function pathOf({ name }: AccessGroup): string {
  return `/access-groups/${encodeURIComponent(name)}`;
}
