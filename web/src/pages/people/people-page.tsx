import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** People. */
export function Page() {
  return (
    <PageLayout title="People">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
