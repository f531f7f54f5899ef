/** The settings of a unit file, `[Service] ExecStart=/usr/bin/app`, in order. An empty value resets what stood before it. */
export type UnitSettings = ReadonlyMap<string, readonly string[]>

/**
 * Reads a unit file as systemd does: sections, `Key=value`, comments with `#` and `;`, and a backslash that joins lines
 * (systemd.syntax(7)).
 */
export function readUnitSettings(text: string): UnitSettings {
  const settings = new Map<string, string[]>()
  let section = ''
  let pending = ''
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*[#;]/.test(line)) continue
    if (line.endsWith('\\')) {
      pending += `${line.slice(0, -1).trim()} `
      continue
    }
    const whole = (pending + line.trim()).trim()
    pending = ''
    const named = /^\[(.*)\]$/.exec(whole)
    if (named !== null) {
      section = named[1] ?? ''
      continue
    }
    const equals = whole.indexOf('=')
    if (equals <= 0) continue
    const key = `[${section}] ${whole.slice(0, equals).trim()}`
    const value = whole
      .slice(equals + 1)
      .trim()
      .replaceAll(/\s+/g, ' ')
    if (value === '') settings.set(key, [])
    else settings.set(key, [...(settings.get(key) ?? []), value])
  }
  return settings
}

/** Settings that describe a unit and change nothing of what it does. */
const descriptions = /^\[Unit\] (?:Description|Documentation)$/

/** The settings in which two unit files differ, by `[Section] Key`. */
export function changedSettings(old: UnitSettings, now: UnitSettings): readonly string[] {
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    key => !descriptions.test(key) && (old.get(key) ?? []).join('\n') !== (now.get(key) ?? []).join('\n'),
  )
}
