import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** New profile. */
export function Page() {
  return (
    <PageLayout title="New profile">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
