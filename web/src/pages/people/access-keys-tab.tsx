import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Button } from '../../ui/button.tsx';
import { SecretOnce } from '../../ui/copy-text.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { EmptyState, Skeleton } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { AccessKeyForm } from './access-key-form.tsx';
import { type Credential, credentialsQuery } from './queries.ts';

/** The access keys of the person, by which programs act in their name. */
export function AccessKeysTab() {
  const { open } = useOpenForm();
  const { data, error } = useQuery(credentialsQuery);
  const [created, setCreated] = useState<Credential | null>(null);
  return (
    <>
      <div className="toolbar">
        <Button kind="primary" onClick={() => open('new-key')}>
          Create access key
        </Button>
      </div>
      {created && (
        <SecretOnce
          title={`The access key ${created.name} has been created.`}
          items={[
            { label: 'Access key', value: created.access_key ?? '' },
            { label: 'Secret key', value: created.secret_key ?? '' },
          ]}
          onDone={() => setCreated(null)}
        />
      )}
      <ErrorMessage error={error} />
      {!data && !error && <Skeleton />}
      {data && <KeyList keys={data} />}
      <FormDialog form="new-key" title="Create an access key">
        <AccessKeyForm onCreated={setCreated} />
      </FormDialog>
      <DeleteKeyDialog keys={data ?? []} />
    </>
  );
}

function KeyList({ keys }: { keys: readonly Credential[] }) {
  const { open } = useOpenForm();
  if (keys.length === 0) {
    return (
      <EmptyState title="You have no access keys">
        Programs log in with an access key instead of your password, and may do what you may. Each can be deleted by
        itself.
      </EmptyState>
    );
  }
  return (
    <div className="list-scroller">
      <table className="list" aria-label="Access keys">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Account</th>
            <th scope="col">Access key</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ access_key, name, account_title, creation_time, last_used_at, expires_at }) => (
            <tr key={access_key}>
              <td title={name ?? ''}>
                <bdi>{name}</bdi>
              </td>
              <td title={account_title}>
                <bdi>{account_title}</bdi>
              </td>
              <td>
                <code>{access_key}</code>
              </td>
              <td>
                <Time value={creation_time} />
              </td>
              <td>
                <Time value={last_used_at} format="relative" />
              </td>
              <td>{expires_at ? <Time value={expires_at} /> : 'never'}</td>
              <td>
                <Button kind="quiet" aria-label={`Delete ${name}`} onClick={() => open('delete-key', access_key ?? '')}>
                  Delete
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DeleteKeyDialog({ keys }: { keys: readonly Credential[] }) {
  const { subject, close } = useOpenForm();
  const key = keys.find(({ access_key }) => access_key === subject);
  if (!key) return null;
  const params = { path: { access_key: subject } };
  return (
    <FormDialog
      form="delete-key"
      title={
        <>
          Delete the access key <bdi>{key.name}</bdi>
        </>
      }
    >
      <ActionForm
        verb="Delete"
        danger
        send={() => client.DELETE('/credentials/{access_key}', { params })}
        request={{ method: 'DELETE', path: `/credentials/${subject}` }}
        changes={[credentialsQuery.queryKey]}
        onDone={close}
        onCancel={close}
      >
        {() => <p>Programs that use it are signed out within seconds.</p>}
      </ActionForm>
    </FormDialog>
  );
}
