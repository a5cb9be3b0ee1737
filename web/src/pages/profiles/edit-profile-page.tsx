import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Edit profile. */
export function Page() {
  return (
    <PageLayout title="Edit profile">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
