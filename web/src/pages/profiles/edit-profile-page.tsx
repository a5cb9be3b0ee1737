import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { PageLayout, Skeleton } from '../../ui/page.tsx';
import { EditScriptProfile } from './form/script-profile-form.tsx';
import { EditUsgProfile } from './form/usg-profile-form.tsx';
import { scriptProfileQuery, scriptTitlesQuery, usgProfileQuery } from './queries.ts';
import './profiles.css';

/** Changes a profile. */
export function Page() {
  const { kind, profileId } = useParams({ strict: false });
  const id = Number(profileId);
  return kind === 'usg' ? <EditUsg key={id} id={id} /> : <EditScript key={id} id={id} />;
}

function EditUsg({ id }: { id: number }) {
  const { data, error } = useQuery(usgProfileQuery(id));
  return (
    <PageLayout title={data ? `Edit ${data.title}` : 'Edit USG profile'}>
      <ErrorMessage error={error} />
      {data ? <EditUsgProfile profile={data} /> : !error && <Skeleton lines={8} />}
    </PageLayout>
  );
}

function EditScript({ id }: { id: number }) {
  const { data, error } = useQuery(scriptProfileQuery(id));
  const { data: titles } = useQuery(scriptTitlesQuery);
  return (
    <PageLayout title={data ? `Edit ${data.title}` : 'Edit script profile'}>
      <ErrorMessage error={error} />
      {data ? (
        <EditScriptProfile profile={data} scriptTitle={titles?.get(data.script_id) ?? `Script ${data.script_id}`} />
      ) : (
        !error && <Skeleton lines={8} />
      )}
    </PageLayout>
  );
}
