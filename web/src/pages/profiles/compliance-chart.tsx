import 'uplot/dist/uPlot.min.css';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { type ComplianceDay, layersOf } from './compliance-layers.ts';
import { complianceQuery } from './queries.ts';
import './compliance-chart.css';

interface ComplianceChartProps {
  /** One profile; all active ones without it. */
  usgProfileId?: number;
  days: number;
}

const HEIGHT = 160;
const LEGEND = [
  { name: 'Passing', tone: 'good' },
  { name: 'Failing', tone: 'bad' },
  { name: 'Not audited', tone: 'idle' },
] as const;

/** How many computers passed, failed and were not audited on each of the last days, as a chart and as a table. */
export function ComplianceChart(props: ComplianceChartProps) {
  const { data, error } = useQuery(complianceQuery(props));
  if (error) return <ErrorMessage error={error} />;
  if (!data) return <Skeleton lines={4} />;
  if (data.every(({ passing, failing, not_audited }) => passing + failing + not_audited === 0)) {
    return <p className="quiet">No audits in the last {props.days} days.</p>;
  }
  return (
    <figure className="compliance">
      <figcaption className="compliance-legend">
        {LEGEND.map(({ name, tone }) => (
          <span key={name} className="state">
            <span aria-hidden="true" className={`compliance-swatch tone-${tone}`} />
            {name}
          </span>
        ))}
      </figcaption>
      <Plot days={data} />
      <ComplianceTable days={data} />
    </figure>
  );
}

/** The chart itself; the table has the same for those who do not see it. */
function Plot({ days }: { days: readonly ComplianceDay[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const first = useRef(days);
  useEffect(() => {
    const element = place.current!;
    const chart = new uPlot(optionsOf(element), layersOf(first.current), element);
    plot.current = chart;
    const resize = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    const repaint = () => chart.redraw();
    const theme = new MutationObserver(repaint);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', repaint);
    return () => {
      resize.disconnect();
      theme.disconnect();
      dark.removeEventListener('change', repaint);
      chart.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.setData(layersOf(days)), [days]);
  return (
    <div ref={place} aria-hidden="true" className="compliance-plot">
      {[...LEGEND.map(({ tone }) => tone), 'text', 'line'].map((tone) => (
        <span key={tone} hidden data-colour={tone} className={`tone-${tone} compliance-${tone}`} />
      ))}
    </div>
  );
}

function optionsOf(element: HTMLElement): uPlot.Options {
  // A canvas has no tokens: the colours are those that elements with the tokens have.
  const colour = (name: string) => () =>
    getComputedStyle(element.querySelector(`[data-colour="${name}"]`) ?? element).color;
  const axis = { stroke: colour('text'), ticks: { show: false }, font: `12px ${getComputedStyle(element).fontFamily}` };
  const bars = uPlot.paths.bars!({ size: [0.8, 32] });
  const layer = (tone: string): uPlot.Series => ({
    fill: colour(tone),
    width: 0,
    paths: bars,
    points: { show: false },
  });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    // Days are those of UTC.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { x: { time: true, range: (_plot, min, max) => [min - 43_200, max + 43_200] }, y: { range: rangeOf } },
    axes: [
      {
        ...axis,
        size: 24,
        grid: { show: false },
        values: (_plot, times) => times.map((time) => DAY.format(time * 1000)),
      },
      {
        ...axis,
        size: 48,
        incrs: [1, 2, 5, 10, 20, 50, 100, 500, 1000, 5000, 10_000, 50_000],
        grid: { stroke: colour('line'), width: 1 },
      },
    ],
    series: [{}, layer('idle'), layer('bad'), layer('good')],
  };
}

const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const LONG_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const rangeOf = (_plot: uPlot, _min: number, max: number): uPlot.Range.MinMax => [0, Math.max(1, max)];

function ComplianceTable({ days }: { days: readonly ComplianceDay[] }) {
  return (
    <details>
      <summary>Show as a table</summary>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {LEGEND.map(({ name }) => (
              <th key={name} scope="col" className="cell-end">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map(({ date, passing, failing, not_audited }) => (
            <tr key={date}>
              <th scope="row">{LONG_DAY.format(new Date(date))}</th>
              <td className="cell-end">{passing}</td>
              <td className="cell-end">{failing}</td>
              <td className="cell-end">{not_audited}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
