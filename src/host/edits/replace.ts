import { expandReplacement, type Matcher } from '../../jinja/regex.js'
import type { Edited } from './lines.js'

/** `replace` without `after` and `before`: each match of a pattern that is compiled for several lines. Source: ansible-core lib/ansible/modules/replace.py. */
export function textReplaced(text: string, pattern: Matcher, by: string): Edited {
  let result = ''
  let at = 0
  for (const match of pattern.all(text)) {
    result += text.slice(at, match.index) + expandReplacement(by, match, pattern)
    at = match.index + match[0].length
  }
  result += text.slice(at)
  return { text: result, changed: result !== text }
}
