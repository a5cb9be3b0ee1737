import { useParams } from '@tanstack/react-router';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { NewScriptProfile } from './form/script-profile-form.tsx';
import { NewUsgProfile } from './form/usg-profile-form.tsx';
import './profiles.css';

/** A new profile of the kind in the address. */
export function Page() {
  const { kind } = useParams({ strict: false });
  if (kind === 'usg') {
    return (
      <PageLayout title="New USG profile">
        <NewUsgProfile />
      </PageLayout>
    );
  }
  return (
    <PageLayout title="New script profile">
      {kind === 'script' ? <NewScriptProfile /> : <EmptyState title="There is no such kind of profile" />}
    </PageLayout>
  );
}
