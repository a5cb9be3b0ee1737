import { type Look, MARKS } from './looks.ts';
import type { MapData } from './map-data.ts';

interface LegendProps {
  data: MapData;
  looks: readonly Look[];
  /** How many computers have each value. */
  counts: readonly number[];
  highlight: string;
  onHighlight: (name: string | undefined) => void;
}

/** What the colours mean, with numbers. Each is a button that makes the others pale. */
export function Legend({ data, looks, counts, highlight, onHighlight }: LegendProps) {
  return (
    <ul className="map-legend" aria-label="Legend">
      {data.legend.map(({ name, label }, value) => (
        <li key={name}>
          <button
            type="button"
            className="map-legend-entry"
            aria-pressed={name === highlight}
            onClick={() => onHighlight(name === highlight ? undefined : name)}
          >
            <Swatch look={looks[value]!} />
            <span>{label}</span>
            <span className="map-count">{counts[value]!.toLocaleString()}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A cell as it looks on the map. */
export function Swatch({ look: { tone, mark } }: { look: Look }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className={`map-swatch map-tone-${tone}`}>
      <rect width="16" height="16" fill="currentColor" />
      <path d={MARKS[mark]} fillRule="evenodd" className="map-swatch-mark" />
    </svg>
  );
}
