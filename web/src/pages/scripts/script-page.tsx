import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Facts, PageLayout, Section, Skeleton } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CodeView } from './code-editor.tsx';
import { scriptQuery } from './queries.ts';
import type { Script } from './script-types.ts';
import { ScriptActions } from './script-actions.tsx';
import { codeOf } from './script-code.ts';
import { EditScript } from './script-form.tsx';
import { ScriptStatus } from './script-status.tsx';
import { Versions } from './versions.tsx';
import './scripts.css';

/** One script: its code, versions and files, or the form that changes it (`?edit=true`). */
export function Page() {
  const { scriptId } = useParams({ strict: false });
  const { get, set } = usePageSearch();
  const { data: script, error } = useQuery(scriptQuery(Number(scriptId)));
  if (!script) {
    return <PageLayout title="Script">{error ? <ErrorMessage error={error} /> : <Skeleton lines={8} />}</PageLayout>;
  }
  const isEdited = get('edit') === 'true' && script.is_editable;
  const onEdit = () => set({ edit: true, version: undefined, with: undefined }, { push: true });
  return (
    <PageLayout
      title={script.title}
      aside={<ScriptStatus status={script.status} />}
      actions={isEdited ? undefined : <ScriptActions script={script} onEdit={onEdit} />}
    >
      {isEdited ? (
        <EditScript key={script.id} script={script} onDone={() => set({ edit: undefined })} />
      ) : (
        <ScriptView script={script} />
      )}
    </PageLayout>
  );
}

function ScriptView({ script }: { script: Script }) {
  return (
    <>
      <Facts
        items={[
          ['Version', script.version_number],
          ['Runs as', <bdi key="user">{script.username}</bdi>],
          ['Time limit', `${script.time_limit} s`],
          ['Access group', script.access_group],
          ['Created', <Time key="created" value={`${script.created_at}Z`} />],
          ['Created by', <bdi key="creator">{script.created_by.name}</bdi>],
          ['Changed', <Time key="changed" value={`${script.last_edited_at}Z`} />],
          ['Changed by', <bdi key="editor">{script.last_edited_by.name}</bdi>],
        ]}
      />
      <Section title="Code">
        {script.status === 'REDACTED' ? (
          <p className="quiet">The code has been deleted.</p>
        ) : (
          <CodeView label="Code" code={codeOf(script)} />
        )}
      </Section>
      <Attachments script={script} />
      <Profiles script={script} />
      <Versions script={script} />
    </>
  );
}

function Attachments({ script: { id, attachments } }: { script: Script }) {
  return (
    <Section title="Attachments">
      {attachments.length === 0 ? (
        <p className="quiet">None. Up to five files can come along with a script.</p>
      ) : (
        <ul className="files">
          {attachments.map((file) => (
            <li key={file.id}>
              <a href={`/api/v2/scripts/${id}/attachments/${file.id}`} download={file.filename}>
                <bdi>{file.filename}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Profiles({ script: { id, script_profiles: profiles, status, access_group } }: { script: Script }) {
  const can = useCan();
  const canCreate =
    status === 'ACTIVE' && can('ManageScriptProfile', access_group) && can('ExecuteScript', access_group);
  return (
    <Section
      title="Profiles"
      actions={
        canCreate && (
          <Link to="/profiles/$kind/new" params={{ kind: 'script' }} search={{ script: String(id) }}>
            New profile of this script
          </Link>
        )
      }
    >
      {profiles.length === 0 ? (
        <p className="quiet">None. A profile runs the script on dates, or when a computer is enrolled.</p>
      ) : (
        <ul className="files">
          {profiles.map((profile) => (
            <li key={profile.id}>
              <Link to="/profiles/$kind/$profileId" params={{ kind: 'script', profileId: String(profile.id) }}>
                <bdi>{profile.title}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
