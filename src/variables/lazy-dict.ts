import type { Key, Value } from '../jinja/value.js'

/**
 * A mapping whose members are computed when they are looked at (`hostvars`, `vars`, `ansible_facts` of a host): building
 * them whole would template every variable of every host. A Map in every other way, so the evaluator needs no second path.
 */
export class LazyDict extends Map<Key, Value> {
  readonly #names: () => Iterable<Key>
  readonly #member: (name: Key) => Value | undefined

  constructor(names: () => Iterable<Key>, member: (name: Key) => Value | undefined) {
    super()
    this.#names = names
    this.#member = member
  }

  override get(key: Key): Value | undefined {
    return this.#member(key)
  }

  override has(key: Key): boolean {
    return this.#member(key) !== undefined
  }

  override get size(): number {
    return [...this.#names()].length
  }

  override *keys(): MapIterator<Key> {
    yield* this.#names()
  }

  override *values(): MapIterator<Value> {
    for (const [, value] of this.entries()) yield value
  }

  override *entries(): MapIterator<[Key, Value]> {
    for (const key of this.#names()) {
      const value = this.#member(key)
      if (value !== undefined) yield [key, value]
    }
  }

  override [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.entries()
  }

  override forEach(callback: (value: Value, key: Key, map: Map<Key, Value>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this)
  }
}
