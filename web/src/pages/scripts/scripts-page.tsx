import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Scripts. */
export function Page() {
  return (
    <PageLayout title="Scripts">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
