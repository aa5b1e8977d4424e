/* SPDX-License-Identifier: MIT */
/* two_hips HIP CODE_OBJECT [close]: loads HIP for itself alone, and launches a kernel of the code object (module_add of
 * tests/programs) ten times. close: it gives it back then. two_hips_linked is linked to another version of HIP, for all
 * to see, and does not use that. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, int error)
{
	if (!error)
		return;
	printf("two_hips: FAILED: %s: %d\n", what, error);
	exit(1);
}

#define CALL(name, types, ...) check(name, ((int(*) types)(dlsym(hip, name)))(__VA_ARGS__))

static void launch(void *hip, const char *path)
{
	void *module = NULL, *function = NULL, *data = NULL;
	unsigned zero = 0;
	void *arguments[] = {&data, &zero, &zero};

	CALL("hipModuleLoad", (void **, const char *), &module, path);
	CALL("hipModuleGetFunction", (void **, void *, const char *), &function, module,
	     "_Z10module_addPjjj");
	for (unsigned i = 1; i <= 10; i++)
		CALL("hipModuleLaunchKernel",
		     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		      void *, void **, void **),
		     function, i, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
	CALL("hipDeviceSynchronize", (void), );
	CALL("hipModuleUnload", (void *), module);
}

int main(int argc, char **argv)
{
	void *hip = argc < 3 ? NULL : dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);

	if (!hip) {
		printf("two_hips: FAILED: %s\n", dlerror());
		return 1;
	}
	launch(hip, argv[2]);
	if (argc > 3)
		dlclose(hip);
	printf("two_hips: ok\n");
	return 0;
}
