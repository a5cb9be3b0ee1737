import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Overview. */
export function Page() {
  return (
    <PageLayout title="Overview">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
