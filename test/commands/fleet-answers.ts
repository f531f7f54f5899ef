/** A host of the report, as far as fleets are compared with single hosts. */
export interface Host {
  readonly host: string
  readonly sameAs: string | null
  readonly problems: readonly {
    readonly evidence: readonly { readonly file: string; readonly line: number | null }[]
  }[]
}

/** Lines of the kernel's tables differ between hosts of one group, so that they are left out there. */
export function withoutTables({ sameAs: _same, ...host }: Host): unknown {
  return {
    ...host,
    problems: host.problems.map(problem => ({
      ...problem,
      evidence: problem.evidence.map(each =>
        /^\/proc\/(modules|net)/.test(each.file) ? { ...each, line: null } : each,
      ),
    })),
  }
}
