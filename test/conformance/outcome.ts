/** What becomes of a task on a host, or of one item of its loop, the same for both sides. */
export interface Outcome {
  /** `roles/a/tasks/main.yml:3` */
  readonly place: string
  readonly name: string
  /** As answers are written: `= "hello"`, `[1,2] = "hello"`, `ran`, `skipped`, `failed`; `?` where it is not known. */
  readonly what: string
}

/** JSON as answers write it. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

export function lineOf({ name, what }: Outcome): string {
  return `${name} ${what}`
}
