import type { Look, MarkName } from './looks.ts';

/** The colours of a map in the theme of the page. */
export interface Palette {
  background: string;
  ink: string;
  font: string;
  /** A pixel over what is selected. */
  selected: number;
  /** For each value of the legend. */
  values: ReadonlyArray<{ pixel: number; mark: MarkName }>;
}

const FAINT = 0.2;
const COVER = 0.65;

/**
 * Reads the colours from elements that have the classes of map.css, since a canvas knows no variables.
 * @param emphasized - the value that is emphasized, or null
 */
export function readPalette(within: HTMLElement, looks: readonly Look[], emphasized: number | null): Palette {
  const colorOf = probe(within);
  const background = toRgb(colorOf('background'));
  return {
    background: css(background),
    ink: css(toRgb(colorOf('ink'))),
    font: `12px ${getComputedStyle(within).fontFamily}`,
    selected: toPixel(toRgb(colorOf('accent')), COVER),
    values: looks.map(({ tone, mark }, value) => {
      const isFaint = emphasized !== null && emphasized !== value;
      const color = toRgb(colorOf(tone));
      return { pixel: toPixel(isFaint ? mix(background, color, FAINT) : color), mark: isFaint ? 'none' : mark };
    }),
  };
}

type Rgb = readonly [red: number, green: number, blue: number];

function probe(within: HTMLElement): (name: string) => string {
  return (name) => {
    const element = document.createElement('span');
    element.className = `map-tone-${name}`;
    within.append(element);
    const { color } = getComputedStyle(element);
    element.remove();
    return color;
  };
}

/** Any colour of CSS: a canvas reads it. */
function toRgb(color: string): Rgb {
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return [red!, green!, blue!];
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  return one.map((value, index) => Math.round(value + (other[index]! - value) * share)) as unknown as Rgb;
}

function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** As a number in the order of bytes of an image. */
function toPixel([red, green, blue]: Rgb, alpha = 1): number {
  return new Uint32Array(Uint8ClampedArray.of(red, green, blue, Math.round(alpha * 255)).buffer)[0]!;
}
