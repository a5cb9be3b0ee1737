import { useQuery } from '@tanstack/react-query';
import { type AccessGroup, accessGroupsQuery } from '../../api/lists.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { DeleteGroupForm, GroupTitleForm } from './access-group-forms.tsx';
import { type GroupNode, groupTree } from './group-tree.ts';

/** The tree of access groups, which limit what roles apply to. */
export function AccessGroupsTab() {
  const { data, error } = useQuery(accessGroupsQuery);
  if (error) return <ErrorMessage error={error} />;
  if (!data) return <Skeleton lines={6} />;
  return (
    <>
      <p className="quiet">
        Every computer is in one access group. A role applies to the computers of its access groups and of all groups
        below them.
      </p>
      <Groups nodes={groupTree(data)} />
      <GroupDialogs groups={data} />
    </>
  );
}

function Groups({ nodes, label }: { nodes: readonly GroupNode[]; label?: string }) {
  return (
    <ul className="groups" aria-label={label ?? 'Access groups'}>
      {nodes.map((group) => (
        <li key={group.name}>
          <GroupLine group={group} />
          {group.below.length > 0 && <Groups nodes={group.below} label={`Below ${group.title}`} />}
        </li>
      ))}
    </ul>
  );
}

function GroupLine({ group: { name, title, parent } }: { group: GroupNode }) {
  const can = useCan();
  const { open } = useOpenForm();
  const button = (form: string, verb: string, text: string) => (
    <Button kind="quiet" onClick={() => open(form, name)} aria-label={text}>
      {verb}
    </Button>
  );
  return (
    <div className="group">
      <bdi title={title}>{title}</bdi>
      <code className="quiet">{name}</code>
      {can('ManageRole') && (
        <span className="group-actions">
          {button('new-group', 'Add below', `Add below ${title}`)}
          {button('rename-group', 'Rename', `Rename ${title}`)}
          {parent !== '' && button('delete-group', 'Delete', `Delete ${title}`)}
        </span>
      )}
    </div>
  );
}

function GroupDialogs({ groups }: { groups: readonly AccessGroup[] }) {
  const { subject } = useOpenForm();
  const group = groups.find(({ name }) => name === subject);
  if (!group) return null;
  return (
    <>
      <FormDialog
        form="new-group"
        title={
          <>
            Add an access group below <bdi>{group.title}</bdi>
          </>
        }
      >
        <GroupTitleForm parent={group} />
      </FormDialog>
      <FormDialog
        form="rename-group"
        title={
          <>
            Rename <bdi>{group.title}</bdi>
          </>
        }
      >
        <GroupTitleForm group={group} />
      </FormDialog>
      <FormDialog
        form="delete-group"
        title={
          <>
            Delete <bdi>{group.title}</bdi>
          </>
        }
      >
        <DeleteGroupForm group={group} parent={groups.find(({ name }) => name === group.parent)} />
      </FormDialog>
    </>
  );
}
