/** Words that have to stand there one after the other; of several any one is enough. */
export type Phrase = string | readonly string[]

/** Whether a text holds every phrase: whole words, upper and lower case and what stands between them aside. */
export function holdsPhrases(text: string, phrases: readonly Phrase[]): boolean {
  const words = inWords(text)
  return phrases.every(phrase => [phrase].flat().some(each => words.includes(inWords(each))))
}

/** ` the kube-scheduler listens `: blanks around each word, so that only whole ones are found. */
function inWords(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_-]*/gu) ?? []
  return ` ${words.join(' ')} `
}
