import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Profiles. */
export function Page() {
  return (
    <PageLayout title="Profiles">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
