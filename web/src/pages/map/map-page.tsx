import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Map. */
export function Page() {
  return (
    <PageLayout title="Map">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
