import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Computers. */
export function Page() {
  return (
    <PageLayout title="Computers">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
