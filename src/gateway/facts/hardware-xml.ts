import { MalformedMessage } from './fields.ts';
import { readLenientXml, type XmlEvents } from './lenient-xml.ts';

export interface HardwareNode {
  id: string;
  class: string;
  disabled: boolean;
  parent: HardwareNode | null;
  children: HardwareNode[];
  description: string | null;
  vendor: string | null;
  product: string | null;
  version: string | null;
  serial: string | null;
  date: string | null;
  size: number | null;
  capacity: number | null;
  width: number | null;
  units: string | null;
  settings: Map<string, string>;
  capabilities: Array<{ code: string; title: string }>;
}

const MAX_NODES = 10_000;
const MAX_DEPTH = 100;
const MAX_ITEMS = 1000;
const MAX_TEXT = 1024;

const NAMES = new Set(
  (
    'list node description product vendor physid businfo logicalname dev version date serial slot size capacity width ' +
    'clock configuration setting capabilities capability resources resource hints hint'
  ).split(' '),
);
const TEXTS = new Set(['description', 'vendor', 'product', 'version', 'serial', 'date'] as const);
const NUMBERS = new Set(['size', 'capacity', 'width'] as const);
type TextKey = typeof TEXTS extends Set<infer K> ? K : never;
type NumberKey = typeof NUMBERS extends Set<infer K> ? K : never;

/** Reads what it can, nodes before their children, no cut-off text. @throws {MalformedMessage} on DTDs, deep nesting */
export function parseHardwareXml(xml: string): HardwareNode[] {
  const reader = new TreeReader();
  readLenientXml(xml, NAMES, reader);
  return reader.nodes;
}

function fail(reason: string): never {
  throw new MalformedMessage(`hardware: ${reason}`);
}

class TreeReader implements XmlEvents {
  readonly nodes: HardwareNode[] = [];
  #node: HardwareNode | null = null;
  #beyond = 0;
  #depth = 0;
  #text = '';
  #code: string | null = null;

  open(name: string, attributes: Record<string, string>): void {
    if (++this.#depth > MAX_DEPTH) fail('nested too deeply');
    this.#text = '';
    if (name === 'node') this.#enter(attributes);
    else if (name === 'setting') this.#set(attributes['id'], attributes['value']);
    else if (name === 'capability') this.#code = attributes['id'] ?? null;
    else if (name === 'size' || name === 'capacity') this.#measure(attributes['units']);
  }

  declaration(): void {
    fail('document types are not supported');
  }

  text(text: string): void {
    if (this.#text.length < MAX_TEXT) this.#text = (this.#text + text).slice(0, MAX_TEXT);
  }

  close(name: string, whole: boolean): void {
    this.#depth--;
    const node = this.#node;
    const text = this.#text.trim();
    this.#text = '';
    if (name === 'node') this.#leave();
    else if (node === null || this.#beyond > 0 || !whole) return;
    else if (name === 'capability') this.#addCapability(node, text);
    else if (TEXTS.has(name as TextKey)) node[name as TextKey] ??= text === '' ? null : text;
    else if (NUMBERS.has(name as NumberKey)) node[name as NumberKey] ??= /^\d{1,15}$/.test(text) ? Number(text) : null;
  }

  #leave(): void {
    if (this.#beyond > 0) this.#beyond--;
    else this.#node = this.#node?.parent ?? null;
  }

  #enter(attributes: Record<string, string>): void {
    if (this.nodes.length >= MAX_NODES) {
      this.#beyond++;
      return;
    }
    const node: HardwareNode = {
      id: (attributes['id'] ?? '').slice(0, MAX_TEXT),
      class: (attributes['class'] ?? '').slice(0, MAX_TEXT),
      disabled: attributes['disabled'] === 'true',
      parent: this.#node,
      children: [],
      description: null,
      vendor: null,
      product: null,
      version: null,
      serial: null,
      date: null,
      size: null,
      capacity: null,
      width: null,
      units: null,
      settings: new Map(),
      capabilities: [],
    };
    this.nodes.push(node);
    this.#node?.children.push(node);
    this.#node = node;
  }

  #measure(units: string | undefined): void {
    if (this.#node && this.#beyond === 0) this.#node.units ??= units ?? null;
  }

  #set(id: string | undefined, value: string | undefined): void {
    const settings = this.#beyond > 0 ? null : this.#node?.settings;
    if (!settings || id === undefined || value === undefined || settings.size >= MAX_ITEMS) return;
    settings.set(id.slice(0, MAX_TEXT), value.slice(0, MAX_TEXT));
  }

  #addCapability(node: HardwareNode, title: string): void {
    const code = this.#code?.slice(0, MAX_TEXT);
    this.#code = null;
    if (code === undefined || node.capabilities.length >= MAX_ITEMS) return;
    node.capabilities.push({ code, title: title === '' ? code : title });
  }
}
