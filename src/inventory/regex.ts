/**
 * A Python regular expression that comes from the user, as JavaScript's; what is wrong with it otherwise. A repetition
 * (or a choice) inside a repetition can take exponential time, so such a pattern is refused.
 */
export function compileRegex(source: string, flags: string): RegExp | string {
  if (repeatsNested(source)) return 'repeats a repetition, which is not evaluated'
  const translated = source.replaceAll('(?P<', '(?<').replaceAll('\\A', '^').replaceAll('\\Z', '$')
  try {
    return new RegExp(translated, flags)
  } catch {
    return 'is no regular expression that can be evaluated'
  }
}

function repeatsNested(source: string): boolean {
  // For each open group: does it hold a repetition or a choice so far?
  const open: boolean[] = [false]
  let inClass = false
  for (let at = 0; at < source.length; at++) {
    const char = source[at] ?? ''
    if (char === '\\') at++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === '(') open.push(false)
    else if (char === ')') {
      const risky = open.pop() ?? false
      const next = source[at + 1] ?? ''
      if (risky && (next === '*' || next === '+' || next === '{')) return true
      if (risky && open.length > 0) open[open.length - 1] = true
    } else if ('*+{|'.includes(char)) open[open.length - 1] = true
  }
  return false
}
