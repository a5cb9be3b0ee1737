import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { MalformedMessage } from './fields.ts';

/** One node of the hardware lister's tree. */
export interface HardwareNode {
  /** The lister's name, such as `cpu:0`; not unique. */
  id: string;
  class: string;
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
  /** Of `size`, else of `capacity`. */
  units: string | null;
  settings: Map<string, string>;
  capabilities: Array<{ code: string; title: string }>;
}

const MAX_NODES = 10_000;
const MAX_DEPTH = 100;
const MAX_ITEMS = 1000;
const MAX_TEXT = 1024;

const TEXTS = new Set(['description', 'vendor', 'product', 'version', 'serial', 'date'] as const);
const NUMBERS = new Set(['size', 'capacity', 'width'] as const);
type TextKey = typeof TEXTS extends Set<infer K> ? K : never;
type NumberKey = typeof NUMBERS extends Set<infer K> ? K : never;

/**
 * Reads the XML of the hardware lister: every node, each before its children. Entities and document types of its own
 * are refused, and nothing outside is ever looked up.
 *
 * @throws {MalformedMessage} when it is no such XML, or is absurdly large or deep
 * @see agent-protocol 8, `hardware-info`
 */
export function parseHardwareXml(xml: string): HardwareNode[] {
  const reader = new TreeReader();
  const parser = new SaxesParser();
  parser.on('error', (error) => refuse(error.message));
  parser.on('doctype', () => refuse('document types are not taken'));
  parser.on('opentag', (tag) => reader.open(tag));
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('closetag', (tag) => reader.close(tag.name));
  parser.write(xml).close();
  return reader.nodes;
}

function refuse(reason: string): never {
  throw new MalformedMessage(`hardware: ${reason.slice(0, 200)}`);
}

class TreeReader {
  readonly nodes: HardwareNode[] = [];
  #node: HardwareNode | null = null;
  #depth = 0;
  #text = '';
  #code: string | null = null;

  open({ name, attributes }: SaxesTagPlain): void {
    if (++this.#depth > MAX_DEPTH) refuse('nested too deeply');
    this.#text = '';
    if (name === 'node') this.#enter(attributes);
    else if (name === 'setting') this.#set(attributes['id'], attributes['value']);
    else if (name === 'capability') this.#code = attributes['id'] ?? null;
    else if ((name === 'size' || name === 'capacity') && this.#node) this.#node.units ??= attributes['units'] ?? null;
  }

  text(text: string): void {
    if (this.#text.length < MAX_TEXT) this.#text = (this.#text + text).slice(0, MAX_TEXT);
  }

  close(name: string): void {
    this.#depth--;
    const node = this.#node;
    const text = this.#text.trim();
    this.#text = '';
    if (node === null) return;
    if (name === 'node') this.#node = node.parent;
    else if (name === 'capability') this.#addCapability(node, text);
    else if (TEXTS.has(name as TextKey)) node[name as TextKey] ??= text === '' ? null : text;
    else if (NUMBERS.has(name as NumberKey)) node[name as NumberKey] ??= /^\d{1,15}$/.test(text) ? Number(text) : null;
  }

  #enter(attributes: Record<string, string>): void {
    if (this.nodes.length >= MAX_NODES) refuse('too many nodes');
    const node: HardwareNode = {
      id: (attributes['id'] ?? '').slice(0, MAX_TEXT),
      class: (attributes['class'] ?? '').slice(0, MAX_TEXT),
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

  #set(id: string | undefined, value: string | undefined): void {
    const settings = this.#node?.settings;
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
