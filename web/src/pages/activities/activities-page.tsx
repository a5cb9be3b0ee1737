import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Activities. */
export function Page() {
  return (
    <PageLayout title="Activities">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
