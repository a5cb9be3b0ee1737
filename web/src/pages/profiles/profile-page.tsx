import { useParams } from '@tanstack/react-router';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { ScriptProfilePage } from './script-profile.tsx';
import { UsgProfilePage } from './usg-profile.tsx';
import './profiles.css';

/** One profile of the kind in the address. */
export function Page() {
  const { kind, profileId } = useParams({ strict: false });
  const id = Number(profileId);
  if (kind === 'usg') return <UsgProfilePage key={id} id={id} />;
  if (kind === 'script') return <ScriptProfilePage key={id} id={id} />;
  return (
    <PageLayout title="Profile">
      <EmptyState title="There is no such kind of profile" />
    </PageLayout>
  );
}
