import fc from 'fast-check'

/** A task as a generated tree has it; `name` and `when` may be absent. */
export interface WrittenTask {
  readonly name: string | undefined
  readonly module: Readonly<Record<string, unknown>>
  readonly when: string | undefined
}

const number = fc.integer({ min: 0, max: 9 })

const moduleCall: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  number.map(n => ({ 'ansible.builtin.copy': { dest: `/etc/app/${n}.conf`, content: `line ${n}` } })),
  number.map(n => ({ 'ansible.builtin.file': { path: `/opt/dir${n}`, state: 'directory' } })),
  number.map(n => ({ 'ansible.builtin.file': { path: `/opt/file${n}`, state: 'absent' } })),
  number.map(n => ({ 'ansible.builtin.service': { name: `unit${n}`, state: 'started', enabled: true } })),
  number.map(n => ({ 'ansible.posix.sysctl': { name: `vm.key${n}`, value: n, sysctl_file: '/etc/sysctl.d/9.conf' } })),
  number.map(n => ({ 'ansible.builtin.package': { name: `package${n}`, state: 'present' } })),
  number.map(n => ({
    'ansible.builtin.template': { src: `t${n}.j2`, dest: `/etc/{{ ansible_local.somewhere }}/t${n}` },
  })),
  number.map(n => ({ 'ansible.builtin.command': `/usr/bin/tool${n} --flag` })),
  number.map(n => ({ 'community.general.modprobe': { name: `module${n}`, state: 'present' } })),
  fc.constant({ 'ansible.builtin.meta': 'flush_handlers' }),
)

export const writtenTask: fc.Arbitrary<WrittenTask> = fc.record({
  name: fc.option(fc.constantFrom('Install it', 'Start it', 'Write it', 'Look at it', 'App | one', 'App | two'), {
    nil: undefined,
  }),
  module: moduleCall,
  when: fc.option(
    fc.constantFrom(
      'ansible_os_family == "Debian"',
      'ansible_local.checked.rc == 0',
      'not ready | default(false)',
      'true',
    ),
    { nil: undefined },
  ),
})

/** Roles by name, each with its task files by name; the first role's `main` includes the rest of its files. */
export interface WrittenRoles {
  readonly roles: readonly { readonly name: string; readonly files: readonly (readonly WrittenTask[])[] }[]
}

export const writtenRoles: fc.Arbitrary<WrittenRoles> = fc.record({
  roles: fc
    .array(fc.array(fc.array(writtenTask, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 3,
    })
    .map(roles => roles.map((files, index) => ({ name: `role-${'abc'[index]}`, files }))),
})

/** How the files of a tree are called. */
export interface Naming {
  readonly role: (name: string) => string
  readonly file: (index: number) => string
  readonly task: (name: string | undefined) => string | undefined
}

export const plainNaming: Naming = {
  role: name => name,
  file: index => `00${index}0-part.yml`,
  task: name => name,
}

/** The files of a tree: JSON is YAML. */
export function filesOf({ roles }: WrittenRoles, naming: Naming): Readonly<Record<string, string>> {
  const files: Record<string, string> = {
    'cluster.yml': JSON.stringify([{ name: 'All', hosts: 'all', roles: roles.map(role => naming.role(role.name)) }]),
  }
  for (const role of roles) {
    const directory = `roles/${naming.role(role.name)}/tasks`
    const tasks = role.files.map(file =>
      file.map(({ name, module, when }) => ({
        ...(naming.task(name) === undefined ? {} : { name: naming.task(name) }),
        ...module,
        ...(when === undefined ? {} : { when }),
      })),
    )
    const includes = tasks.map((_, index) => ({ 'ansible.builtin.import_tasks': naming.file(index) }))
    files[`${directory}/main.yml`] = JSON.stringify(includes)
    for (const [index, each] of tasks.entries()) files[`${directory}/${naming.file(index)}`] = JSON.stringify(each)
  }
  return files
}

export const writtenTree: fc.Arbitrary<Readonly<Record<string, string>>> = writtenRoles.map(roles =>
  filesOf(roles, plainNaming),
)
