import { useQuery } from '@tanstack/react-query';
import { CatchBoundary, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { client } from '../../api/client.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Section, Skeleton } from '../../ui/page.tsx';

const DAYS = 30;

/** Loaded after the rest: the numbers do not wait for the library that draws it. */
const ComplianceChart = lazy(async () => {
  const { ComplianceChart: Chart } = await import('../profiles/compliance-chart.tsx');
  return { default: Chart };
});

/** How many computers passed their audits on each of the last days; nothing without a USG profile. */
export function Compliance() {
  const { data: profiles } = useQuery({
    queryKey: ['profiles', 'count', 'usg'],
    queryFn: async ({ signal }) => {
      const query = { status: 'active', limit: 1 } as const;
      return (await client.GET('/usg-profiles', { params: { query }, signal })).data.count;
    },
  });
  if (!profiles) return null;
  return (
    <Section title={`Compliance in the last ${DAYS} days`} actions={<Link to="/profiles">All profiles</Link>}>
      {/* Without it the whole page would fail when the chart cannot be loaded. */}
      <CatchBoundary getResetKey={() => DAYS} errorComponent={ErrorMessage}>
        <Suspense fallback={<Skeleton lines={4} />}>
          <ComplianceChart days={DAYS} />
        </Suspense>
      </CatchBoundary>
    </Section>
  );
}
